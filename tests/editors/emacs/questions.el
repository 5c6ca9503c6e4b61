;;; questions.el --- what is told in a buffer of its own  -*- lexical-binding: t -*-

(load (expand-file-name "steps" (file-name-directory load-file-name)) nil t)
(require 'eglot)

(defun told (command)
  "The text that COMMAND shows."
  (save-window-excursion
    (call-interactively command)
    (with-current-buffer "*loaderlint*" (buffer-string))))

(steps-play
 (lambda ()
   (steps-open "loaders.py")
   (apply #'eglot (eglot--guess-contact))
   (let ((finding (steps-await "the finding" (lambda () (steps-finding "draws the same numbers")))))
     (goto-char (flymake-diagnostic-beg finding)))
   (steps-see 'explained (told #'loaderlint-explain))
   (steps-see 'workers (told #'loaderlint-workers))
   (steps-see 'supposed (told (lambda () (interactive) (loaderlint-what-if "python=3.14,torch=1.8"))))
   (steps-see 'checked (told #'loaderlint-check))))

;;; questions.el ends here
