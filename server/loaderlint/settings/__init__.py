"""The settings of users, from files and flags."""
