;;; undo.el --- a fix of several files, and its undo  -*- lexical-binding: t -*-

(load (expand-file-name "steps" (file-name-directory load-file-name)) nil t)

(defun modified ()
  "The names of the files whose buffers have changes that are not saved, sorted."
  (let ((buffers (cl-remove-if-not (lambda (one) (and (buffer-file-name one) (buffer-modified-p one))) (buffer-list))))
    (sort (mapcar #'buffer-name buffers) #'string<)))

(defun undo-in (name)
  "Undo once in the buffer NAME; what is still modified then."
  (with-current-buffer name
    (condition-case nil (undo) (user-error nil))) ; an error where there is nothing to be undone
  (vconcat (modified)))

(defun fix-and-undo (start act)
  "START connects the buffer with the server, ACT calls the menu of code actions."
  (steps-open "noise.py")
  (funcall start)
  (let ((draw (steps-await "the finding" (lambda () (steps-finding "draws the same numbers")))))
    (goto-char (flymake-diagnostic-beg draw)))
  (steps-choosing "Seed each worker" act)
  (steps-await "the fix" (lambda () (= (length (modified)) 3)))
  (steps-see 'asked (vconcat (reverse steps-asked)))
  (steps-see 'fixed (vconcat (modified)))

  ;; lsp-mode tells the server only of buffers that were visited.
  (dolist (name (modified))
    (steps-open name)
    (funcall start))
  (steps-open "noise.py")
  (steps-await "the finding to go" (lambda () (not (steps-finding "draws the same numbers"))))

  (steps-see 'undone (vconcat (mapcar #'undo-in '("noise.py" "signals.py" "fit.py" "score.py"))))
  (steps-await "the finding to come back" (lambda () (steps-finding "draws the same numbers"))))

;;; undo.el ends here
