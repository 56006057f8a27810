/** Who is signed in, for every part of the page. A viewer is shown no buttons that the server would refuse. */
import { createContext, useContext } from 'react';
import type { UserBody } from '../../../src/client/wire.ts';

export const Me = createContext<UserBody>({ username: '', email: null, role: 'viewer' });
export const useMe = (): UserBody => useContext(Me);
/** May change the fleet and its work. */
export const useMayEdit = (): boolean => useMe().role !== 'viewer';
