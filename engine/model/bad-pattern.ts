/** A piece of a path pattern that cannot be read; the message says why, to follow "makes no sense:". */
export class BadPattern extends Error {}
