/** The item of the tab's storage with the key of a push until its link is shown; empty if the form did not encrypt. */
export const KEY_ITEM = 'pwpush-key';
