"""How common is each hazard over many repositories?

`repositories` says what a repository is, `measure` turns one into a `Result` (plain data that can be pickled, sent and
kept), `run` does so for many and `kept` holds on to what is done, `summarise` counts, `text` and `html` show. Results
of shards can be put together, because every number is counted from the results and none is kept beside them."""
