"""The script that every process of ours begins with: `python start_child.py COUNT FOLDER... MODULE ARGUMENT...` looks
for modules in these folders only, and calls `main` of the module.

It is a file because `python -c` and `python -m` look for modules in the current folder before they run anything of
ours. Python puts this file's folder on the path instead, until the first statement takes it off again."""

import sys

count = int(sys.argv[1])
sys.path[:] = sys.argv[2 : 2 + count]
module, *arguments = sys.argv[2 + count :]
__import__(module)
sys.modules[module].main(*arguments)
