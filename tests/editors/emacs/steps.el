;;; steps.el --- what a user does and sees, in the words of eglot and of lsp-mode  -*- lexical-binding: t -*-

(require 'cl-lib)
(require 'flymake)
(require 'json)
(require 'package)

;; Debian's packages; `-Q' leaves their folders out.
(setq package-directory-list '("/usr/share/emacs/site-lisp/elpa" "/usr/share/emacs/site-lisp/elpa-src"))
(package-initialize)

(setq make-backup-files nil
      create-lockfiles nil
      auto-save-default nil
      enable-local-variables nil
      ;; What takes the place of a built-in function here need not be compiled.
      native-comp-enable-subr-trampolines nil
      eglot-sync-connect 30
      eglot-connect-timeout 60
      lsp-auto-guess-root t
      lsp-enable-file-watchers nil
      lsp-diagnostics-provider :flymake
      lsp-warn-no-matched-clients nil)

(defvar steps-seen nil "What is reported: an alist.")

(defvar steps-asked nil "The questions that were asked and answered with yes, the last one first.")

(defun steps-see (name value)
  "Report VALUE as NAME."
  (push (cons name value) steps-seen))

(defun steps-await (what condition)
  "Wait until CONDITION, a function, gives something, and return that; WHAT says for what."
  (let ((end (+ (float-time) (string-to-number (getenv "PATIENCE")))) found)
    (while (not (or (setq found (funcall condition)) (> (float-time) end)))
      (accept-process-output nil 0.05)
      ;; Without a screen Emacs is never idle; eglot sends changes when it is.
      (mapc #'timer-event-handler (copy-sequence timer-idle-list)))
    (or found (error "Waited in vain for %s; there is %S" what (steps-findings)))))

(defun steps-open (name)
  "Visit the file NAME in the window, in `python-mode'."
  (switch-to-buffer (find-file-noselect name))
  (unless (derived-mode-p 'python-mode) (python-mode)))

(defun steps-go (words)
  "Go to the first place with WORDS; nil if there is none."
  (let ((place (save-excursion (goto-char (point-min)) (search-forward words nil t))))
    (when place (goto-char (- place (length words))))))

(defun steps-findings ()
  "Flymake's diagnostics of this buffer, in order, asked anew."
  (flymake-start)
  (sort (flymake-diagnostics)
        (lambda (a b) (< (flymake-diagnostic-beg a) (flymake-diagnostic-beg b)))))

(defun steps-finding (words)
  "The first finding with WORDS in its text, or nil."
  (cl-find-if (lambda (one) (string-search words (flymake-diagnostic-text one))) (steps-findings)))

(defun steps-drawn (start end)
  "The faces, as text, that Flymake has drawn between START and END."
  (mapcar (lambda (overlay) (format "%s" (overlay-get overlay 'face)))
          (cl-remove-if-not (lambda (overlay) (overlay-get overlay 'flymake-diagnostic)) (overlays-in start end))))

(defun steps-choosing (title act)
  "Call ACT; in its menu, choose the entry that begins with TITLE.  Return all entries.
Questions are answered with yes and kept in `steps-asked'."
  (let (offered (last-nonmenu-event ?\r)) ; with an event of the mouse, eglot would open a menu of the window system
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt entries &rest _)
                 (setq offered (all-completions "" entries))
                 (or (cl-find-if (lambda (entry) (string-prefix-p title entry)) offered)
                     (error "No action begins with %s: %S" title offered))))
              ((symbol-function 'y-or-n-p) (lambda (question) (push question steps-asked)))
              ((symbol-function 'yes-or-no-p) (lambda (question) (push question steps-asked))))
      (funcall act))
    offered))

(defun steps-save-all ()
  "Save every buffer."
  (save-some-buffers t))

(defun steps-play (steps)
  "Call STEPS, write down what was seen, and leave; with exit code 1 and the reason if they fail."
  (condition-case reason
      (progn
        (steps-see 'version emacs-version)
        (load (getenv "CONFIGURATION") nil t)
        (funcall steps)
        (with-temp-file (getenv "REPORT") (insert (json-encode steps-seen))))
    (error (message "%s" (error-message-string reason)) (kill-emacs 1)))
  (kill-emacs 0))

;;; steps.el ends here
