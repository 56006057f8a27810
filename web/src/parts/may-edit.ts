/** Whether who is signed in may change things. A viewer is shown no buttons that the server would refuse. */
import { createContext, useContext } from 'react';

export const MayEdit = createContext(false);
export const useMayEdit = (): boolean => useContext(MayEdit);
