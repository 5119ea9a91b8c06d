/* vfork returns twice on one stack, so no function in C can wrap it: like libc's own, this one keeps the return address
 * in a register. It counts in the thread's memory, which the child shares: up before the call, and down in the parent,
 * which continues when the child is gone. Asking for the process' id instead costs a system call per opened file. */
#include "vfork.h"

#include <errno.h>

#if defined(__x86_64__)
__thread uint32_t io_vforks __attribute__((tls_model("initial-exec"), visibility("hidden")));

__attribute__((used, visibility("hidden"))) int io_vfork_failed(int error) {
  errno = error;
  return -1;
}

__asm__(".text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "  .cfi_startproc\n"
        "  endbr64\n"
        "  popq %rdi\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  .cfi_register %rip, %rdi\n"
        "  movq io_vforks@gottpoff(%rip), %rsi\n"
        "  addl $1, %fs:(%rsi)\n"
        "  movl $58, %eax\n"
        "  syscall\n"
        "  pushq %rdi\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  .cfi_rel_offset %rip, 0\n"
        "  testl %eax, %eax\n"
        "  je 1f\n"
        "  subl $1, %fs:(%rsi)\n"
        "  cmpl $-4095, %eax\n"
        "  jae 2f\n"
        "1:\n"
        "  ret\n"
        "2:\n"
        "  movl %eax, %edi\n"
        "  negl %edi\n"
        "  jmp io_vfork_failed\n"
        "  .cfi_endproc\n"
        ".size vfork, . - vfork\n");
#endif
