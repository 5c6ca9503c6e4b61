"""What calls do outside their process. Some must not happen again when a worker runs the script once more: they ask the
user, remove or move files, or begin a file anew."""

from __future__ import annotations

ASKING = frozenset({"builtins.input", "getpass.getpass"})
REMOVING = frozenset(
    """
    os.remove os.unlink os.rmdir os.removedirs os.rename os.renames os.replace shutil.rmtree shutil.move
    """.split()
)
#: Methods of a path that do so.
REMOVING_METHODS = frozenset("unlink rmdir rename replace".split())
OPENING = "builtins.open"
#: The letters of a mode in which a file is begun anew, or must not exist.
ANEW = frozenset("wx")

#: The beginnings of calls that change nothing in their own process but what they return: a worker never needs them.
OUTSIDE = tuple(
    """
    builtins.print pprint.pprint logging.debug logging.info logging.warning mlflow. nltk.download os.makedirs os.mkdir
    os.remove os.system shutil. time.sleep wandb.
    """.split()
)
