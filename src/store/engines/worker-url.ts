/**
 * Where the code of a worker thread is: the bundle has all entries flat in one folder, the sources run as they are. Tests put
 * test/support/worker-url.ts in its place.
 */

/** `name` is the file without its suffix. */
export const workerUrl = (name: string, importMetaUrl: string): URL =>
  new URL(`./${name}${importMetaUrl.endsWith('.ts') ? '.ts' : '.js'}`, importMetaUrl);
