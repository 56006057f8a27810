/** Causes of which no process can be brought to its end here, and where they are shown instead. */
import type { Cause } from '../../src/contract/causes.ts';

/** `ran`: a process would end that way; `why` says what this machine lacks. Else: nothing runs, so no process ends. */
export const notMade: Partial<Record<Cause, { ran: boolean; why: string; shown: string }>> = {
  memory_pressure_killed: {
    ran: true,
    why: 'needs earlyoom or systemd-oomd and a host whose memory is really used up',
    shown: 'src/outcome/memory-evidence.test.ts',
  },
  runner_lost: {
    ran: true,
    why: 'the runner is what ends: the reaper writes it, no facts come',
    shown: 'src/store/conformance/leases.ts',
  },
  call_budget_exhausted: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/budgets.ts' },
  no_runner: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/budgets.ts' },
  session_busy: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/limits.ts' },
  agent_stopped: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/limits.ts' },
  fleet_paused: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/limits.ts' },
  provider_paused: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/limits.ts' },
  budget_spent: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/limits.ts' },
  memory: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/limits.ts' },
  disk: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/limits.ts' },
  credentials_exhausted: { ran: false, why: 'waits in the queue', shown: 'src/store/conformance/limits.ts' },
};
