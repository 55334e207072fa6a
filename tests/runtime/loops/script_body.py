"""Everything at module level, without a clip, Adam, the old zero_grad at the end of the iteration."""

import torch

torch.manual_seed(3)
net = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=4)
criterion = torch.nn.CrossEntropyLoss()
for step in range(8):
    inputs, labels = torch.randn(12, 6), torch.randint(0, 3, (12,))
    with torch.autocast("cpu", dtype=torch.float16):
        loss = criterion(net(inputs), labels)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=False)
    print(step, loss.item())
print([p.double().sum().item() for p in net.parameters()])
