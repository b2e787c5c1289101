/** Thrown for an invalid part of a path pattern. The message says why and follows "is invalid:". */
export class BadPattern extends Error {}
