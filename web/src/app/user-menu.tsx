/** Who is signed in, and what is this person's own: theme, time zone, the keys, sign out. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { DropdownMenu as Menu } from 'radix-ui';
import { api, write } from '../api.ts';
import { Icon } from '../parts/icon.tsx';
import { useMe } from '../parts/me.ts';
import { sayProblem } from '../parts/notices.tsx';
import { themes, useTheme } from '../theme.ts';
import { browserZone, setZone, useChosenZone } from '../zone.ts';

const themeWords = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;

const Choice = ({ value, children }: { value: string; children: string }) => (
  <Menu.RadioItem className="menu-item" value={value}>
    <span className="tick">
      <Menu.ItemIndicator>
        <Icon name="done" />
      </Menu.ItemIndicator>
    </span>
    {children}
  </Menu.RadioItem>
);

export const UserMenu = ({ onKeys, onZone }: { onKeys: () => void; onZone: () => void }) => {
  const me = useMe();
  const queries = useQueryClient();
  const [theme, setTheme] = useTheme();
  const zone = useChosenZone();
  const leave = useMutation({
    mutationFn: () => write(() => api.logout()),
    onSuccess: () => {
      queries.clear();
      location.assign('/');
    },
    onError: sayProblem,
  });
  const known = new Set(['', 'UTC']);
  return (
    // Not modal: locking the page's scroll would need a style of its own, which the policy refuses.
    <Menu.Root modal={false}>
      <Menu.Trigger asChild>
        <button type="button" className="quiet" aria-label={`${me.username}: theme, time zone, sign out`}>
          <Icon name="person" />
          <span className="wide-only">{me.username}</span>
          <Icon name="down" />
        </button>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={6} collisionPadding={8}>
          <Menu.Label className="menu-label">
            {me.username} · {me.role}
          </Menu.Label>
          <Menu.Item className="menu-item" asChild>
            <a href="/docs">API documentation</a>
          </Menu.Item>
          <Menu.Separator className="menu-line" />
          <Menu.Label className="menu-label">Theme</Menu.Label>
          <Menu.RadioGroup
            value={theme}
            onValueChange={(t) => setTheme(themes.find((known) => known === t) ?? 'system')}
            aria-label="Theme"
          >
            {themes.map((t) => (
              <Choice key={t} value={t}>
                {themeWords[t]}
              </Choice>
            ))}
          </Menu.RadioGroup>
          <Menu.Separator className="menu-line" />
          <Menu.Label className="menu-label">Times in</Menu.Label>
          <Menu.RadioGroup
            value={zone ?? ''}
            onValueChange={(z) => setZone(z === '' ? null : z)}
            aria-label="Time zone"
          >
            <Choice value="">{`${browserZone()} (this browser)`}</Choice>
            <Choice value="UTC">UTC</Choice>
            {zone !== null && !known.has(zone) && <Choice value={zone}>{zone}</Choice>}
          </Menu.RadioGroup>
          <Menu.Item className="menu-item inset" onSelect={onZone}>
            Another zone…
          </Menu.Item>
          <Menu.Separator className="menu-line" />
          <Menu.Item className="menu-item inset" onSelect={onKeys}>
            Keys <kbd className="ml-auto">?</kbd>
          </Menu.Item>
          <Menu.Item className="menu-item inset" onSelect={() => leave.mutate()}>
            Sign out
          </Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
};
