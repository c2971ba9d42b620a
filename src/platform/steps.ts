/**
 * What a user can do after a failure, where the words name an option or a command, which only the command line knows:
 * `cli/advice.ts` has them.
 */
export type StepName =
  | 'accept-as-sent'
  | 'accept-as-sent-next'
  | 'accept-limits'
  | 'allow-variables'
  | 'allow-variables-or-only'
  | 'attach'
  | 'choose-identity-file'
  | 'delete-saved'
  | 'do-without-files'
  | 'get-whole-link'
  | 'give-identity'
  | 'give-identity-elsewhere'
  | 'open-saved'
  | 'overwrite'
  | 'pack-folder'
  | 'pipe-content'
  | 'pipe-file'
  | 'report-bug'
  | 'request-here-or-plain'
  | 'resume'
  | 'resume-soon'
  | 'save-sealed'
  | 'set-variable'
  | 'set-variable-of-file'
  | 'shorten-days'
  | 'try-saved-key'
  | 'unlock-key'
  | 'use-stdin-or-file';
