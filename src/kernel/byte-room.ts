/**
 * Room for what is on its way through memory: so many bytes at once, first come first served. The server reads no body that has
 * none (its sender waits on a full socket), the runner makes no batch. One alone may be larger than all.
 */
interface Waiter {
  bytes: number;
  enter(): void;
}

export interface ByteRoom {
  /** Resolves when there is room, with what gives it back (once; again does nothing). */
  take(bytes: number): Promise<() => void>;
}

export const byteRoom = (most: number): ByteRoom => {
  const waiting: Waiter[] = [];
  let taken = 0;
  const letIn = () => {
    while (waiting[0] !== undefined && (taken === 0 || taken + waiting[0].bytes <= most)) {
      const { bytes, enter } = waiting.shift()!;
      taken += bytes;
      enter();
    }
  };
  return {
    take: (bytes) =>
      new Promise((resolve) => {
        let given = false;
        const giveBack = () => {
          if (given) return;
          given = true;
          taken -= bytes;
          letIn();
        };
        waiting.push({ bytes, enter: () => resolve(giveBack) });
        letIn();
      }),
  };
};
