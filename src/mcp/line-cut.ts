/**
 * An execution's call that cannot be answered now: the server closes, or the caller is gone. Its row may still be `waiting`, and any
 * answer would set its process going without its slots; so the line is cut, and whoever is there comes back with its call id.
 */
export class LineCut extends Error {
  constructor() {
    super('the line is cut without an answer');
  }
}
