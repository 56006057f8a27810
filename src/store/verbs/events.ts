/** Events are written in the transaction that made the change: a reader sees both or neither. Ids and what changed, never texts. */
import type { EventType } from '../../contract/events.ts';
import { insertInto } from '../statement.ts';
import type { Tx } from '../tx.ts';

const insertEvent = insertInto('events', ['at', 'type', 'execution_id', 'agent_name', 'data']);

interface NewEvent {
  type: EventType;
  execution_id?: string;
  agent_name?: string;
  data?: Record<string, unknown>;
}

export const tell = async (tx: Tx, event: NewEvent): Promise<void> => {
  await insertEvent(tx, {
    at: tx.at.now,
    type: event.type,
    execution_id: event.execution_id ?? null,
    agent_name: event.agent_name ?? null,
    data: event.data ? JSON.stringify(event.data) : '{}',
  });
};
