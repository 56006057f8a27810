/** Every route module, in the order they are registered. A module that is not here does not exist. */
import type { RouteModule } from './route.ts';
import { agentFileRoutes } from './routes/agent-files.ts';
import { agentInfoRoutes } from './routes/agent-info.ts';
import { agentLimitRoutes } from './routes/agent-limits.ts';
import { agentSecretRoutes } from './routes/agent-secrets.ts';
import { agentRoutes } from './routes/agents.ts';
import { auditRoutes } from './routes/audit.ts';
import { backupRoutes } from './routes/backups.ts';
import { costRoutes } from './routes/costs.ts';
import { credentialSettingRoutes } from './routes/credential-settings.ts';
import { credentialRoutes } from './routes/credentials.ts';
import { fleetRoutes } from './routes/fleet.ts';
import { fleetOpsRoutes } from './routes/fleet-ops.ts';
import { healthRoutes } from './routes/health.ts';
import { incidentRoutes } from './routes/incidents.ts';
import { inviteRoutes } from './routes/invites.ts';
import { keyRoutes } from './routes/keys.ts';
import { manifestRoutes } from './routes/manifest.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { morningRoutes } from './routes/morning.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { observabilityRoutes } from './routes/observability.ts';
import { operatorQueueRoutes } from './routes/operator-queue.ts';
import { opsRoutes } from './routes/ops.ts';
import { peopleRoutes } from './routes/people.ts';
import { permissionRoutes } from './routes/permissions.ts';
import { rediagnoseRoutes } from './routes/rediagnose.ts';
import { runnerListRoutes } from './routes/runners.ts';
import { scheduleRunRoutes } from './routes/schedule-runs.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { settingRoutes } from './routes/settings.ts';
import { setupRoutes } from './routes/setup.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { userRoutes } from './routes/users.ts';
import { webhookCallRoutes } from './routes/webhook-calls.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { workRoutes } from './routes/work.ts';

export const routes: readonly RouteModule[] = [
  healthRoutes,
  metricsRoutes,
  setupRoutes,
  signInRoutes,
  peopleRoutes,
  userRoutes,
  inviteRoutes,
  keyRoutes,
  agentRoutes,
  agentLimitRoutes,
  agentInfoRoutes,
  permissionRoutes,
  agentFileRoutes,
  workRoutes,
  scheduleRoutes,
  scheduleRunRoutes,
  webhookRoutes,
  webhookCallRoutes,
  manifestRoutes,
  mcpRoutes,
  fleetRoutes,
  incidentRoutes,
  costRoutes,
  morningRoutes,
  opsRoutes,
  fleetOpsRoutes,
  observabilityRoutes,
  runnerListRoutes,
  credentialRoutes,
  credentialSettingRoutes,
  agentSecretRoutes,
  settingRoutes,
  operatorQueueRoutes,
  notificationRoutes,
  auditRoutes,
  backupRoutes,
  rediagnoseRoutes,
];
