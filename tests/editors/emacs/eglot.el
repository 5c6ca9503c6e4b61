;;; eglot.el --- the session with eglot  -*- lexical-binding: t -*-

(load (expand-file-name "session" (file-name-directory load-file-name)) nil t)
(require 'eglot)

(defun hover ()
  "What ElDoc is told about the place of point."
  (let (said)
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq said (or text ""))))
    (steps-await "what is said" (lambda () said))
    (unless (string-empty-p said) (substring-no-properties said))))

(steps-play
 (lambda ()
   (session (lambda () (unless (eglot-managed-p) (apply #'eglot (eglot--guess-contact))))
            (lambda () (call-interactively #'eglot-code-actions))
            #'hover)))

;;; eglot.el ends here
