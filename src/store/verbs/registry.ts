/** The verbs by name: one line each. What is missing here does not exist: the engines run nothing else. */
import type { ReadVerbs, WriteVerbs } from '../store.ts';
import type { ReadVerb, WriteVerb } from '../tx.ts';
import { agentByName, agents } from './agent-reads.ts';
import { createAgent, deleteAgent, updateAgent } from './agents.ts';
import { answerDelivered, answersDue, takeAnswer } from './answers.ts';
import { askOperator } from './ask-operator.ts';
import { attemptForFinish, attemptOwner, attempts, attemptsToStop, expiredLeases, facts } from './attempt-reads.ts';
import { markAttention, waitingSince } from './attention.ts';
import { audit, auditLog } from './audit.ts';
import { begin } from './begin.ts';
import { budgets, putBudget } from './budgets.ts';
import { caller } from './caller.ts';
import { cancel, clearQueue } from './cancel.ts';
import { chain } from './chain.ts';
import { clearChat, session, sessions } from './chat-sessions.ts';
import { claimNext } from './claim-next.ts';
import { costs } from './cost-rows.ts';
import {
  credentialEvents,
  credentialFaults,
  credentialSwitches,
  credentials,
  credentialUsage,
  deleteCredential,
  noteSeals,
  putCredential,
  resealCredential,
} from './credentials.ts';
import { enqueue } from './enqueue.ts';
import { eventsAfter } from './event-reads.ts';
import { execution, executions, executionsWithTexts } from './execution-reads.ts';
import { expireBudgets } from './expire-budgets.ts';
import { cancelFanOut, enqueueFanOut, fanOut } from './fan-out.ts';
import { fleetLimits } from './fleet-settings.ts';
import { giveBack } from './give-back.ts';
import { incident, incidents, pauseProvider, providers } from './incidents.ts';
import { invariants } from './invariants.ts';
import { acceptInvite, changeUser, createInvite, deleteInvite, deleteUser, inviteByHash, invites } from './invites.ts';
import { judged } from './judged.ts';
import { clockHighWater, keepClock, newestId } from './keep-clock.ts';
import { createKey, keyByHash, keys, revokeKey, touchKey } from './keys.ts';
import { loginOptions, loginView } from './login-view.ts';
import { morningReportTried, morningSent, night, putMorningReport, takeMorningReport } from './night.ts';
import { notifications, notificationTried, takeNotifications } from './notifications.ts';
import { notifyTarget, putNotifyTarget } from './notify-target.ts';
import { occupancy } from './occupancy.ts';
import { abandonCall, detachCall, openCall } from './open-call.ts';
import { answerOperatorItem, operatorItem, operatorItems } from './operator-items.ts';
import { setPaused } from './pause.ts';
import { permissions, putPermissions } from './permissions.ts';
import { ping } from './ping.ts';
import { putRunner } from './put-runner.ts';
import { putOperatorItem } from './raise-item.ts';
import { adoptLeases, reap } from './reap.ts';
import { renew } from './renew.ts';
import { retain } from './retain.ts';
import { runnerIsHere, runnerWatch } from './runner-watch.ts';
import { deleteRunner, runners } from './runners.ts';
import {
  createSchedule,
  deleteSchedule,
  dueSchedules,
  schedule,
  schedules,
  scheduleTicks,
  tickOf,
  updateSchedule,
} from './schedules.ts';
import { searchExecutions } from './search-executions.ts';
import { putSetting, setting, settings } from './settings.ts';
import { settle } from './settle.ts';
import { stats } from './stats.ts';
import { skipTicks } from './ticks.ts';
import { login, user, userByName, users } from './user-reads.ts';
import { createLogin, createUser, deleteLogin, setPassword } from './users.ts';
import { longWaits, waits } from './waits.ts';
import { createWebhook, deleteWebhook, updateWebhook, webhookByHash, webhookCalled, webhooks } from './webhooks.ts';
import { timezone } from './zone.ts';

/** Bodies of logs have a thread of their own: open.ts. */
type LogReads = 'log' | 'stored_seq';

export const writeVerbs: { [V in keyof WriteVerbs]: WriteVerb<V> } = {
  create_agent: createAgent,
  update_agent: updateAgent,
  delete_agent: deleteAgent,
  claim_next: claimNext,
  begin,
  renew,
  settle,
  cancel,
  clear_queue: clearQueue,
  expire_budgets: expireBudgets,
  reap,
  give_back: giveBack,
  adopt_leases: adoptLeases,
  open_call: openCall,
  abandon_call: abandonCall,
  detach_call: detachCall,
  enqueue_fan_out: enqueueFanOut,
  cancel_fan_out: cancelFanOut,
  put_permissions: putPermissions,
  mark_attention: markAttention,
  set_paused: setPaused,
  pause_provider: pauseProvider,
  put_budget: putBudget,
  put_morning_report: putMorningReport,
  take_morning_report: takeMorningReport,
  morning_report_tried: morningReportTried,
  put_runner: putRunner,
  put_operator_item: putOperatorItem,
  enqueue,
  answer_operator_item: answerOperatorItem,
  ask_operator: askOperator,
  take_answer: takeAnswer,
  answer_delivered: answerDelivered,
  put_notify_target: putNotifyTarget,
  take_notifications: takeNotifications,
  notification_tried: notificationTried,
  create_invite: createInvite,
  delete_invite: deleteInvite,
  accept_invite: acceptInvite,
  change_user: changeUser,
  delete_user: deleteUser,
  create_webhook: createWebhook,
  update_webhook: updateWebhook,
  delete_webhook: deleteWebhook,
  webhook_called: webhookCalled,
  create_schedule: createSchedule,
  update_schedule: updateSchedule,
  delete_schedule: deleteSchedule,
  skip_ticks: skipTicks,
  audit,
  clear_chat: clearChat,
  create_key: createKey,
  create_login: createLogin,
  create_user: createUser,
  delete_credential: deleteCredential,
  delete_login: deleteLogin,
  delete_runner: deleteRunner,
  keep_clock: keepClock,
  runner_is_here: runnerIsHere,
  put_credential: putCredential,
  reseal_credential: resealCredential,
  put_setting: putSetting,
  note_seals: noteSeals,
  retain,
  revoke_key: revokeKey,
  set_password: setPassword,
  touch_key: touchKey,
};

export const readVerbs: { [V in Exclude<keyof ReadVerbs, LogReads>]: ReadVerb<V> } = {
  agent_by_name: agentByName,
  agents,
  fleet_limits: fleetLimits,
  execution,
  executions,
  executions_with_texts: executionsWithTexts,
  search_executions: searchExecutions,
  attempts,
  facts,
  judged,
  attempt_for_finish: attemptForFinish,
  attempt_owner: attemptOwner,
  stats,
  waits,
  occupancy,
  long_waits: longWaits,
  expired_leases: expiredLeases,
  attempts_to_stop: attemptsToStop,
  events_after: eventsAfter,
  incident,
  incidents,
  providers,
  costs,
  night,
  morning_sent: morningSent,
  budgets,
  timezone,
  invariants,
  ping,
  audit_log: auditLog,
  caller,
  chain,
  fan_out: fanOut,
  permissions,
  waiting_since: waitingSince,
  clock_high_water: clockHighWater,
  newest_id: newestId,
  credential_events: credentialEvents,
  credential_faults: credentialFaults,
  credential_switches: credentialSwitches,
  credential_usage: credentialUsage,
  credentials,
  login_options: loginOptions,
  login_view: loginView,
  key_by_hash: keyByHash,
  keys,
  login,
  operator_items: operatorItems,
  operator_item: operatorItem,
  answers_due: answersDue,
  notify_target: notifyTarget,
  notifications,
  invites,
  invite_by_hash: inviteByHash,
  webhooks,
  webhook_by_hash: webhookByHash,
  schedules,
  schedule,
  due_schedules: dueSchedules,
  schedule_ticks: scheduleTicks,
  tick_of: tickOf,
  runners,
  runner_watch: runnerWatch,
  session,
  sessions,
  setting,
  settings,
  user,
  user_by_name: userByName,
  users,
};
