"""Measures how common each hazard is in many repositories.

`repositories` finds the repositories, `measure` turns one into a `Result` (plain data that can be pickled, sent and
stored), `run` does so for many, `result_store` stores the results, `summarise` counts, `text_summary` and `html_page`
show the summary. Results of shards can be combined: every number is counted from results, and none is stored
separately."""
