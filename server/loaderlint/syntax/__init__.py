"""Text, pieces, trees and positions: everything about Python source that does not involve PyTorch.

* `source`: bytes to text and back, line numbers.
* `cutter`: text to pieces, incrementally after an edit.
* `libcst_tree`: a piece to its concrete tree.
* `span`: places in a text, and edits to it.
* `bare_tree`, `libcst_to_bare`: a piece to the tree that facts are lowered from, by Python's parser and by libcst.
* `anchors`: the numbers of the nodes of a bare tree, and their places from Python's parser.
* `positions`: the places of the nodes of a concrete tree, edits to a text.
* `places`: anchors to places in the text, from either parser.

All offsets and columns are characters (code points), all lines count from 0, and a line ends with `\\n`, `\\r\\n` or
`\\r` only. Import from the modules: this package imports none, so that `source` and `cutter` work without libcst."""
