/**
 * Has the CLI said all it will say? After its terminal event it may go on for background work of its own, and must not be
 * ended for that (seen: `background_tasks_changed` lists what is open, and a second `result` follows when it is done). With
 * nothing open and no word for 30 s it hangs: what it had to say is said, and the process is ended as teardown.
 */
import type { LineSeen } from '../evidence/reader.ts';
import type { Clock } from '../kernel/clock.ts';

/** MCP servers and hooks of a healthy CLI close within a few seconds of its result. */
export const afterResultMs = 30_000;

interface AfterResult {
  seen(line: LineSeen): void;
  stop(): void;
}

const openTasks = (event: Record<string, unknown> | null): number | null =>
  event?.type === 'system' && event.subtype === 'background_tasks_changed' && Array.isArray(event.tasks)
    ? event.tasks.length
    : null;

export const watchAfterResult = (clock: Clock, onHang: () => void, ms = afterResultMs): AfterResult => {
  let terminal = false;
  let open = 0;
  let cancel = () => {};
  return {
    seen(line) {
      open = openTasks(line.event) ?? open;
      terminal ||= line.terminal;
      cancel();
      if (terminal && open === 0) cancel = clock.after(ms, onHang);
    },
    stop: () => cancel(),
  };
};
