;;; lsp-mode.el --- the session with lsp-mode  -*- lexical-binding: t -*-

(load (expand-file-name "session" (file-name-directory load-file-name)) nil t)
(require 'lsp-mode)
(require 'lsp-diagnostics)

(defun hover ()
  "What the help window shows about the place of point."
  (save-window-excursion
    (lsp-describe-thing-at-point)
    (let ((help (get-buffer "*lsp-help*")))
      (when help
        (prog1 (with-current-buffer help (buffer-substring-no-properties (point-min) (point-max)))
          (kill-buffer help))))))

(steps-play
 (lambda ()
   (session #'lsp (lambda () (call-interactively #'lsp-execute-code-action)) #'hover)))

;;; lsp-mode.el ends here
