;;; lsp-mode-settings.el --- the settings with lsp-mode  -*- lexical-binding: t -*-

(load (expand-file-name "settings" (file-name-directory load-file-name)) nil t)
(require 'lsp-mode)
(require 'lsp-diagnostics)

(steps-play (lambda () (settings #'lsp)))

;;; lsp-mode-settings.el ends here
