;;; lsp-mode.el --- the session with lsp-mode  -*- lexical-binding: t -*-

(load (expand-file-name "session" (file-name-directory load-file-name)) nil t)
(require 'lsp-mode)
(require 'lsp-diagnostics)

(steps-play
 (lambda ()
   (session #'lsp (lambda () (call-interactively #'lsp-execute-code-action)))))

;;; lsp-mode.el ends here
