"""What libraries do: one table a question, names in full (`numpy.random.rand`). Nothing here runs a library."""
