/* Opens files with the real dynamic linker and says what came of each. usage: loader_host FOLDER OUTPUT COMMAND...
   A command is g:PATH (RTLD_GLOBAL) or l:PATH (RTLD_LOCAL): the file is opened in a child first, and unless that died
   it is opened here and stays open; or t:PATH: in a child only. One line each: "loads", the linker's words, or "dies".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child said; 0 where it died. */
static int in_child(const char* path, int mode, char* text, size_t size) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) exit(2);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    const char* said = dlopen(path, mode) != NULL ? "loads" : dlerror();
    _exit(write(ends[1], said, strlen(said)) < 0 ? 1 : 0);
  }
  close(ends[1]);
  size_t length = 0;
  for (ssize_t n; (n = read(ends[0], text + length, size - 1 - length)) > 0;) length += (size_t)n;
  close(ends[0]);
  text[length] = '\0';
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int count, char** values) {
  if (count < 3 || chdir(values[1]) != 0) return 2;
  FILE* output = fopen(values[2], "we");
  if (output == NULL) return 2;
  for (int i = 3; i < count; ++i) {
    static char text[16384];
    const int mode = RTLD_NOW | (values[i][0] == 'g' ? RTLD_GLOBAL : RTLD_LOCAL);
    const int lived = in_child(values[i] + 2, mode, text, sizeof text);
    fprintf(output, "%s\n", lived ? text : "dies");
    fflush(output);
    if (lived && values[i][0] != 't') dlopen(values[i] + 2, mode);
  }
  return fclose(output) == 0 ? 0 : 1;
}
