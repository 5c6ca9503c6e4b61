import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, multiprocessing, sys
multiprocessing.set_start_method("fork")
import train
print(json.dumps(train.produce()))
"""


def measure(module):
    # a new interpreter: this process has loaded numpy.random
    folder = Path(module.__file__).parent
    run = subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=True)
    drawn = json.loads(run.stdout)
    if len(set(drawn)) < len(drawn):
        yield "duplicates"
