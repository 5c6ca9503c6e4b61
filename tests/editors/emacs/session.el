;;; session.el --- from opening a file to the fixes on disk  -*- lexical-binding: t -*-

(load (expand-file-name "steps" (file-name-directory load-file-name)) nil t)

(defun session (start act hover)
  "START connects the buffer with the server, ACT calls the menu of code actions.
HOVER returns what is shown about the place of point, or nil."
  ;; A finding, drawn.
  (steps-open "loaders.py")
  (funcall start)
  (let ((finding (steps-await "the finding" (lambda () (steps-finding "draws the same numbers")))))
    (goto-char (flymake-diagnostic-beg finding))
    (steps-see 'line (line-number-at-pos))
    (steps-see 'message (flymake-diagnostic-text finding))
    (steps-see 'drawn (steps-drawn (point) (flymake-diagnostic-end finding))))

  ;; What a loader starts, and for whom a function runs.
  (save-excursion
    (steps-go "DataLoader(flipped")
    (steps-see 'loader (steps-await "the loader's page" hover))
    (steps-go "seed_validation_worker(worker_id)")
    (steps-see 'worker (steps-await "the function's page" hover)))

  ;; Its fix.
  (steps-see 'offered (steps-choosing "Seed from" act))
  (steps-await "the fix" (lambda () (not (save-excursion (goto-char (point-min)) (search-forward "1234" nil t)))))
  (steps-await "the fixed finding to go" (lambda () (not (steps-finding "draws the same numbers"))))
  (steps-see 'left (steps-drawn (line-beginning-position) (line-end-position)))

  ;; A refactoring, where there is no fault.
  (steps-go "DataLoader(TileStream")
  (steps-choosing "Seed workers reproducibly" act)
  (steps-await "the refactoring" (lambda () (steps-go "generator=")))

  ;; A fix of what is seen here, made in the other file.
  (steps-open "transforms.py")
  (funcall start)
  (let ((draw (steps-await "the finding of the other file" (lambda () (steps-finding "global state")))))
    (goto-char (flymake-diagnostic-beg draw)))
  (steps-choosing "Seed each worker" act)
  (steps-await "the finding to go with the fix of another file" (lambda () (not (steps-finding "global state"))))
  (steps-save-all))

;;; session.el ends here
