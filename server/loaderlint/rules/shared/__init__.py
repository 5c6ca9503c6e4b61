"""The verdict on candidates, and the queries and fixes that several rules share. It contains no rule."""
