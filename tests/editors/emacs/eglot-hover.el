;;; eglot-hover.el --- what a hover shows without markdown-mode  -*- lexical-binding: t -*-

(setq package-load-list '((markdown-mode nil) all))
(load (expand-file-name "steps" (file-name-directory load-file-name)) nil t)
(require 'eglot)

(steps-play
 (lambda ()
   (steps-open "loaders.py")
   (apply #'eglot (eglot--guess-contact))
   (steps-await "the finding" (lambda () (steps-finding "draws the same numbers")))
   (steps-go "DataLoader(flipped")
   (let (said)
     (eglot-hover-eldoc-function (lambda (text &rest _) (setq said (or text ""))))
     (steps-await "what is said" (lambda () said))
     (steps-see 'markdown (fboundp 'gfm-view-mode))
     (steps-see 'loader (substring-no-properties said)))))

;;; eglot-hover.el ends here
