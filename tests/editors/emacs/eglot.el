;;; eglot.el --- the session with eglot  -*- lexical-binding: t -*-

(load (expand-file-name "session" (file-name-directory load-file-name)) nil t)
(require 'eglot)

(steps-play
 (lambda ()
   (session (lambda () (unless (eglot-managed-p) (apply #'eglot (eglot--guess-contact))))
            (lambda () (call-interactively #'eglot-code-actions)))))

;;; eglot.el ends here
