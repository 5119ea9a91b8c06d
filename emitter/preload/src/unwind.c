/* What libgcc_s gives to code that is compiled with -fexceptions. Loading it would take a tenth of what the preload
 * costs a process, and only the unwinder calls these: when a thread is cancelled in a measured call, and it is there
 * already. These names are this object's alone (preload.map). */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unwind.h>

typedef _Unwind_Reason_Code personality(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                        struct _Unwind_Exception *exception, struct _Unwind_Context *context);
typedef void resume(struct _Unwind_Exception *exception);

personality __gcc_personality_v0;

static personality *found_personality;
static resume *found_resume;

static void find(void) {
  if (__atomic_load_n(&found_resume, __ATOMIC_ACQUIRE) != NULL) return;
  int error = errno;
  void *library = dlopen("libgcc_s.so.1", RTLD_LAZY);
  resume *there = library != NULL ? (resume *)dlsym(library, "_Unwind_Resume") : NULL;
  found_personality = library != NULL ? (personality *)dlsym(library, "__gcc_personality_v0") : NULL;
  __atomic_store_n(&found_resume, there, __ATOMIC_RELEASE);
  errno = error;
}

/* As in libc, the thread that cancels loads it: it may have the loader's lock, for which the other one would wait. */
WRAPPED(int, pthread_cancel, (pthread_t thread)) {
  find();
  return CALL(pthread_cancel)(thread);
}

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                         struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
  find();
  return found_personality != NULL ? found_personality(version, actions, kind, exception, context)
                                   : _URC_CONTINUE_UNWIND;
}

/* Only after the other one. */
void _Unwind_Resume(struct _Unwind_Exception *exception) {
  found_resume(exception);
  abort();
}
