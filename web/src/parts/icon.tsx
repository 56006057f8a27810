/** Drawn for this page, 14 by 14, in strokes of one weight. Always beside a word or a hidden label, never alone. */
const icons = {
  pause: <path d="M4.5 3v8M9.5 3v8" />,
  play: <path d="M4 2.5l7 4.5-7 4.5z" />,
  close: <path d="M3 3l8 8M11 3l-8 8" />,
  copy: <path d="M5 5h6.5v6.5H5zM9 2.5H2.5V9" />,
  done: <path d="M2.5 7.5l3 3 6-7" />,
  menu: <path d="M2 3.5h10M2 7h10M2 10.5h10" />,
  search: <path d="M9.2 9.2L12 12M10.4 6.2a4.2 4.2 0 11-8.4 0 4.2 4.2 0 018.4 0z" />,
  down: <path d="M3.5 5.5L7 9l3.5-3.5" />,
  back: <path d="M8.5 3L4.5 7l4 4" />,
  person: <path d="M9.4 4.6a2.4 2.4 0 11-4.8 0 2.4 2.4 0 014.8 0zM2.4 12.2a4.7 4.7 0 019.2 0" />,
  now: <path d="M1.5 7h2.6l1.7-4.2L8.4 11l1.7-4h2.4" />,
  inbox: <path d="M1.8 8.2h3l.9 1.6h2.6l.9-1.6h3M1.8 8.2L3.4 3h7.2l1.6 5.2v3H1.8z" />,
  queue: <path d="M2 3.2h10M2 7h7M2 10.8h4.5" />,
  executions: <path d="M2 3h2M2 7h2M2 11h2M6.4 3H12M6.4 7H12M6.4 11H12" />,
  agents: <path d="M2.5 5h9v6.5h-9zM7 5V2.4M5.2 8v.8M8.8 8v.8" />,
  schedules: <path d="M12.2 7A5.2 5.2 0 111.8 7a5.2 5.2 0 0110.4 0zM7 4v3.2l2.1 1.3" />,
  credentials: <path d="M7.6 6.4l4.6-4.6M10.4 3.6l1.4 1.4M8.2 8.9a2.9 2.9 0 11-5.8 0 2.9 2.9 0 015.8 0z" />,
  costs: <path d="M2 12V8.2M5.4 12V4.6M8.7 12V6.6M12 12V2.4" />,
  settings: <path d="M2 4h5.4M10.6 4H12M2 10h1.4M6.6 10H12M9 2.4v3.2M5 8.4v3.2" />,
  keys: <path d="M2 6h10v6H2zM4.4 6V4.2a2.6 2.6 0 015.2 0V6" />,
  people: (
    <path d="M6.8 4.8a2 2 0 11-4 0 2 2 0 014 0zM1.2 11.6a3.7 3.7 0 017.2 0M9 2.9a2 2 0 010 3.8M10.4 8.4a3.7 3.7 0 012.4 3.2" />
  ),
  audit: <path d="M3 1.8h5.6L11 4.2v8H3zM5.2 6.6h3.6M5.2 9.2h3.6" />,
  health: <path d="M7 12S1.8 9 1.8 5.4A2.7 2.7 0 017 4.2a2.7 2.7 0 015.2 1.2C12.2 9 7 12 7 12z" />,
};
export type IconName = keyof typeof icons;

export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 14 14" aria-hidden="true">
    {icons[name]}
  </svg>
);
