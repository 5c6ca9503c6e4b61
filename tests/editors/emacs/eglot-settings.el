;;; eglot-settings.el --- the settings with eglot  -*- lexical-binding: t -*-

(load (expand-file-name "settings" (file-name-directory load-file-name)) nil t)
(require 'eglot)

(steps-play (lambda () (settings (lambda () (apply #'eglot (eglot--guess-contact))))))

;;; eglot-settings.el ends here
