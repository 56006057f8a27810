/** Where rows will stand: of their height, so that nothing moves when they come. Says "loading" to screen readers, once. */
const widths = ['w-3/5', 'w-2/5', 'w-4/5', 'w-1/2'];

export const Skeleton = ({ rows }: { rows: number }) => (
  <div className="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, place) => place).map((place) => (
      <div key={place}>
        <i className={widths[place % widths.length]} />
      </div>
    ))}
  </div>
);
