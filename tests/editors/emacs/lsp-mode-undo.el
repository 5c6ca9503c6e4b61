;;; lsp-mode-undo.el --- a fix of several files with lsp-mode  -*- lexical-binding: t -*-

(load (expand-file-name "undo" (file-name-directory load-file-name)) nil t)
(require 'lsp-mode)
(require 'lsp-diagnostics)
(steps-play
 (lambda ()
   (fix-and-undo #'lsp (lambda () (call-interactively #'lsp-execute-code-action)))))

;;; lsp-mode-undo.el ends here
