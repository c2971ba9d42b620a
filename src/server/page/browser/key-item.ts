/** The item of the tab's storage with the key of a push until its link is shown. */
export const KEY_ITEM = 'pwpush-key';
