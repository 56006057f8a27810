/** Which methods a path has: a wrong method is told apart from a path that is not there. Only looked at after nothing matched. */
interface Registered {
  method: string;
  url: string;
}

export const methodsAt = (known: readonly Registered[], path: string): string[] => {
  const asked = path.replace(/\/+$/, '').split('/');
  const fits = (url: string): boolean => {
    const parts = url.split('/');
    return parts.length === asked.length && parts.every((part, i) => part === asked[i] || part.startsWith(':'));
  };
  // The page's own addresses (`/*`) are no route of the API.
  return [...new Set(known.filter((r) => !r.url.includes('*') && fits(r.url)).map((r) => r.method))].sort();
};
