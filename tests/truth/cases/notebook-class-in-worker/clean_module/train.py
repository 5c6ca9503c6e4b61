"""The program is the notebook beside this file."""
