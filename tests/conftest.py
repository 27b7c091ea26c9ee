import os

# Some virtual machines announce AMX and trap on it: bfloat16 would end the test process. Set before torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")
# Test processes side by side otherwise wait for each other's threads. Children inherit it; whoever wants two, says so.
os.environ.setdefault("OMP_NUM_THREADS", "1")
