"""How common is each hazard over many repositories?

`repositories` says what a repository is, `measure` turns one into a `Result` (plain data that can be pickled, sent and
kept), `run` does so for many, `result_store` keeps what is done, `summarise` counts, `text_summary` and `html_page`
show it. Results of shards can be combined: every number is counted from results and none is stored beside them."""
