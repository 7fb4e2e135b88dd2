/**
 * Percentage of a window at which the gateway edits it and at which a summary is made, if no other is set. A window of a
 * session has no threshold by default: its policy decides by cost.
 */
export const DEFAULT_THRESHOLD = 80;
