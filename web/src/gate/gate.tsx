/** Before the page: is the server set up, and who is here? First start, sign in, or the page itself. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, inWords, whoAmI } from '../api.ts';
import { createPages } from '../app/router.tsx';
import { keys } from '../live/keys.ts';
import { Me } from '../parts/me.ts';
import { FirstStart } from './first-start.tsx';
import { Invitation, invitationToken } from './invitation.tsx';
import { SignIn } from './sign-in.tsx';

export const GateFrame = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="gate">
    <main>
      <h1>
        <img src="/icon.svg" alt="" />
        {title}
      </h1>
      {children}
    </main>
  </div>
);

export const Gate = () => {
  const queries = useQueryClient();
  const [router] = useState(createPages);
  const [invited] = useState(invitationToken);
  const me = useQuery({ queryKey: keys.me, queryFn: whoAmI, refetchInterval: false });
  const setup = useQuery({
    queryKey: keys.setup,
    queryFn: () => api.setupStatus(),
    enabled: me.data === null,
    refetchInterval: false,
  });
  const again = () => queries.invalidateQueries({ queryKey: keys.me });

  if (invited !== null) return <Invitation token={invited} />;
  if (me.data)
    return (
      <Me value={me.data}>
        <RouterProvider router={router} />
      </Me>
    );
  const failed = me.data === null ? setup : me;
  if (failed.isError)
    return (
      <GateFrame title="Drover">
        <p role="alert" className="problem">
          {inWords(failed.error)}
        </p>
        <button type="button" onClick={() => failed.refetch()}>
          Try again
        </button>
      </GateFrame>
    );
  if (me.data === undefined || setup.data === undefined) return null;
  if (setup.data.setup_completed) return <SignIn onSignedIn={again} />;
  return (
    <FirstStart
      tokenFile={setup.data.owner_token_file ?? null}
      onDone={async () => {
        await setup.refetch();
        await again();
      }}
    />
  );
};
