;;; settings.el --- what is found with the settings of the configuration  -*- lexical-binding: t -*-

(load (expand-file-name "steps" (file-name-directory load-file-name)) nil t)

(defun settings (start)
  "START connects the buffer with the server."
  (steps-open "transforms.py")
  (funcall start)
  (steps-await "the findings" (lambda () (steps-finding "this Generator")))
  (steps-see 'found (mapcar #'flymake-diagnostic-text (steps-findings))))

;;; settings.el ends here
