/**
 * Invitations: a link that works once and for a while. Its token is shown once and kept as a hash; the page has it behind `#`, so
 * that no server on the way logs it. Who accepts chooses a password, which nobody else ever knows.
 */
import { z } from 'zod';
import { refuse } from '../../contract/errors.ts';
import { secretToken } from '../../kernel/ids.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import type { InviteRow } from '../../store/door-verbs.ts';
import { checkNewPassword, hashPassword } from '../passwords.ts';
import { createPerMinute } from '../per-minute.ts';
import {
  anonymousBytes,
  IdParams,
  iso,
  isoOrNull,
  MessageBody,
  orNotFound,
  orRefuse,
  Refused,
  type RouteModule,
  who,
} from '../route.ts';
import { hashToken } from '../secrets.ts';
import { startSession } from '../session.ts';
import { Email, RoleBody, Username } from './users.ts';

const tags = ['People'];
const tokenPrefix = 'dri_';
const hours = { default: 72, max: 30 * 24 };
/** Guesses at a token of 256 bits are hopeless; this keeps them from costing anything. */
const triesPerMinute = 20;

const InviteBody = z.object({
  id: z.string(),
  role: RoleBody,
  username: z.string().nullable(),
  email: z.string().nullable(),
  status: z.enum(['open', 'accepted', 'expired']),
  created_by: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
  accepted_at: z.string().nullable(),
});
const MadeInvite = InviteBody.extend({ token: z.string(), path: z.string() });

export const inviteRoutes: RouteModule = (deps) => async (app) => {
  const { clock, ids, random } = deps.kernel;
  const tries = createPerMinute(clock);

  const present = (i: InviteRow): z.infer<typeof InviteBody> => ({
    id: i.id,
    role: i.role,
    username: i.username,
    email: i.email,
    status: i.accepted_at !== null ? 'accepted' : i.expires_at <= clock.now() ? 'expired' : 'open',
    created_by: i.created_by,
    created_at: iso(i.created_at),
    expires_at: iso(i.expires_at),
    accepted_at: isoOrNull(i.accepted_at),
  });

  app.get(
    '/api/users/invites',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Invitations, newest first; never their tokens',
        response: { 200: z.array(InviteBody) },
      },
    },
    async () => (await deps.store.read('invites', {})).map(present),
  );

  app.post(
    '/api/users/invites',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Invite a person; the token is shown once',
        body: z.object({
          role: RoleBody.default('operator'),
          username: Username.nullish(),
          email: Email.nullish(),
          expires_in_hours: z.number().int().min(1).max(hours.max).default(hours.default),
        }),
        response: { 201: MadeInvite },
      },
    },
    async (request, reply) => {
      const { role, username, email, expires_in_hours } = request.body;
      const me = who(request);
      if (username != null && (await deps.store.read('user_by_name', { username })) !== null)
        throw new Refused(refuse('duplicate', `A user named ${username} exists already.`));
      const token = tokenPrefix + secretToken(random);
      const now = clock.now();
      const invite = await commit(deps, 'create_invite', {
        invite: {
          id: ids.next(now),
          hash: hashToken(token),
          role,
          username: username ?? null,
          email: email ?? null,
          created_by: me.kind === 'user' ? me.name : me.kind,
          created_at: now,
          expires_at: now + expires_in_hours * 3_600_000,
          accepted_at: null,
          user_id: null,
        },
      });
      await audit(deps, me, 'invite.create', username ?? email ?? invite.id, { role });
      return reply.code(201).send({ ...present(invite), token, path: `/invite#${token}` });
    },
  );

  app.delete(
    '/api/users/invites/:id',
    {
      config: { needs: 'own' },
      schema: { tags, summary: 'Take an invitation back', params: IdParams, response: { 200: MessageBody } },
    },
    async (request) => {
      const { id } = request.params;
      const { deleted } = await commit(deps, 'delete_invite', { id });
      orNotFound(deleted ? id : null, 'invitation');
      await audit(deps, who(request), 'invite.delete', id);
      return { message: 'The invitation is taken back.' };
    },
  );

  const Given = z.object({ token: z.string().max(200) });
  /** Used, over, taken back and never made are told apart by nobody. */
  const open = async (ip: string, token: string): Promise<InviteRow> => {
    const later = tries.take(ip, triesPerMinute);
    if (later > 0) throw new Refused(refuse('rate_limited', 'Too many tries. Wait a minute.', { retryAfterMs: later }));
    const invite = await deps.store.read('invite_by_hash', { hash: hashToken(token) });
    if (invite === null || present(invite).status !== 'open') throw new Refused(gone());
    return invite;
  };
  const gone = () => refuse('not_found', 'This invitation is not known, was used, or is over. Ask for another one.');

  app.post(
    '/api/users/invites/look',
    {
      config: { needs: 'anyone' },
      bodyLimit: anonymousBytes,
      schema: {
        tags,
        summary: 'What an invitation is for, asked by who has its token',
        body: Given,
        response: {
          200: z.object({
            role: RoleBody,
            username: z.string().nullable(),
            email: z.string().nullable(),
            invited_by: z.string(),
            expires_at: z.string(),
          }),
        },
      },
    },
    async (request) => {
      const i = await open(request.ip, request.body.token);
      return {
        role: i.role,
        username: i.username,
        email: i.email,
        invited_by: i.created_by,
        expires_at: iso(i.expires_at),
      };
    },
  );

  app.post(
    '/api/users/invites/accept',
    {
      config: { needs: 'anyone' },
      bodyLimit: anonymousBytes,
      schema: {
        tags,
        summary: 'Accept an invitation with a password of your own; you are signed in',
        body: Given.extend({
          username: Username.nullish(),
          password: z.string(),
          confirm_password: z.string().nullish(),
        }),
        response: {
          200: z.object({
            success: z.boolean(),
            username: z.string(),
            role: RoleBody,
            access_token: z.string().optional(),
            token_type: z.string(),
            csrf_token: z.string().optional(),
          }),
        },
      },
    },
    async (request, reply) => {
      const { token, password, confirm_password } = request.body;
      const invite = await open(request.ip, token);
      const username = request.body.username ?? invite.username;
      if (username == null) throw new Refused(refuse('invalid', 'username: choose the name you will sign in with.'));
      orRefuse(checkNewPassword(password, confirm_password ?? password));
      const now = clock.now();
      const user = orRefuse(
        await commit(deps, 'accept_invite', {
          hash: invite.hash,
          user: {
            id: ids.next(now),
            username,
            email: null,
            role: invite.role,
            password_hash: await hashPassword(password, random),
            created_at: now,
          },
        }),
      );
      if (user === null) throw new Refused(gone());
      const by = { kind: 'user', id: user.id, name: user.username, role: user.role } as const;
      await audit(deps, by, 'invite.accept', user.username, { role: user.role, invite: invite.id });
      return {
        success: true,
        username: user.username,
        role: user.role,
        ...(await startSession(deps, request, reply, user)),
      };
    },
  );
};
